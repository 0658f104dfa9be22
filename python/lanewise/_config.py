"""What this process runs on."""

from lanewise import _core


def _disk(stats: dict) -> str:
    if not stats["directory"]:
        return f"off: {stats['why_off']}"
    if stats["untrusted"]:
        return f"not trusted: {stats['untrusted']}"
    text = f"{stats['hits']} kernels from {stats['directory']}, {stats['stored']} put there"
    if stats["rejected"]:
        text += f", {stats['rejected']} rejected"
    if stats["failures"]:
        text += f", {stats['failures']} failures, the last: {stats['last_failure']}"
    return text


def configuration() -> str:
    """Version, CPU, instruction set, LLVM, threads and caches, a line each."""
    found = _core._configuration()
    kernels = _core.cache_stats()
    memory = _core.memory_stats()
    limit = f"{memory['limit'] >> 20} MiB" if memory["limit"] else "none"
    return "\n".join(
        [
            f"lanewise  {_core.__version__}",
            f"CPU       {found['cpu']}, {found['usable_cores']} usable cores",
            f"target    {found['target']}",
            f"LLVM      {found['llvm']}",
            f"threads   {found['threads']}",
            f"kernels   {kernels['kernels']} of at most {kernels['kernel_limit']} in the cache, "
            f"{kernels['compilations']} compiled",
            f"disk      {_disk(_core._disk_cache_stats())}",
            f"memory    {memory['in_use'] >> 20} MiB in use, {memory['cached'] >> 20} MiB of "
            f"{memory['cache_limit'] >> 20} MiB kept for reuse, limit {limit}",
        ]
    )


def show_config() -> None:
    """Prints the version, the CPU and its instruction set, LLVM, threads and caches.

    >>> lw.show_config()  # doctest: +ELLIPSIS
    lanewise  ...
    """
    print(configuration())
