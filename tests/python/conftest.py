import os

import hypothesis
import numpy as np
import pytest

# No test may pass thanks to code that an earlier build compiled. Read at the first compilation.
os.environ["LANEWISE_CACHE_DIR"] = "0"

hypothesis.settings.register_profile(
    "lanewise",
    deadline=None,
    max_examples=int(os.environ.get("LANEWISE_TEST_EXAMPLES", "60")),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("lanewise")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(12345)


@pytest.fixture(autouse=True, scope="session")
def quiet_numpy():
    with np.errstate(all="ignore"):
        yield
