"""The models that Oasis proposes: they call tools, and one or two fit each size of memory.

Names, files and sizes are those of the hub's repositories in autumn 2026. Sizes are for choosing; what is fetched is
held to the size and the sha256 that the hub gives.
"""

from dataclasses import dataclass

from oasis.errors import EngineFault

GB = 1_000_000_000


@dataclass(frozen=True, slots=True)
class HubModel:
    """A GGUF file in a repository of the hub. `memory_gb`: the memory in which it runs with a useful context."""

    name: str
    repository: str
    file: str
    size_bytes: int
    memory_gb: int
    note: str


HUB = (
    HubModel(
        "qwen3.5-4b",
        "unsloth/Qwen3.5-4B-GGUF",
        "Qwen3.5-4B-Q4_K_M.gguf",
        2_740_000_000,
        4,
        "hybrid; reads and explains, edits small files",
    ),
    HubModel(
        "qwen3.5-9b",
        "unsloth/Qwen3.5-9B-GGUF",
        "Qwen3.5-9B-Q4_K_M.gguf",
        5_680_000_000,
        8,
        "hybrid; small tasks of several steps",
    ),
    HubModel(
        "gpt-oss-20b",
        "ggml-org/gpt-oss-20b-GGUF",
        "gpt-oss-20b-mxfp4.gguf",
        12_109_565_632,
        16,
        "3.6B of 21B active: works without a GPU",
    ),
    HubModel(
        "glm-4.7-flash",
        "unsloth/GLM-4.7-Flash-GGUF",
        "GLM-4.7-Flash-Q4_K_M.gguf",
        18_312_339_776,
        24,
        "3.6B of 30B active: works without a GPU",
    ),
    HubModel(
        "devstral-small-2",
        "unsloth/Devstral-Small-2-24B-Instruct-2512-GGUF",
        "Devstral-Small-2-24B-Instruct-2512-Q4_K_M.gguf",
        14_300_000_000,
        24,
        "dense, made for code; wants a GPU",
    ),
    HubModel(
        "qwen3.8-27b",
        "unsloth/Qwen3.8-27B-GGUF",
        "Qwen3.8-27B-UD-Q4_K_M.gguf",
        16_464_440_224,
        24,
        "dense, hybrid; wants a GPU",
    ),
    HubModel(
        "gemma-4-26b-a4b",
        "unsloth/gemma-4-26B-A4B-it-GGUF",
        "gemma-4-26B-A4B-it-UD-Q4_K_M.gguf",
        16_950_000_000,
        24,
        "4B of 26B active; sliding window",
    ),
    HubModel(
        "qwen3.6-35b-a3b",
        "unsloth/Qwen3.6-35B-A3B-GGUF",
        "Qwen3.6-35B-A3B-UD-Q4_K_M.gguf",
        22_134_528_992,
        48,
        "3B of 35B active, hybrid; long work",
    ),
)


def fitting(memory_bytes: int) -> HubModel | None:
    """The model to propose for this much memory, the first listed of the largest that fit; None where none does."""
    fits = [model for model in HUB if model.memory_gb * GB <= memory_bytes * 1.1]
    return max(fits, key=lambda model: model.memory_gb, default=None)


def hub_model(name: str) -> HubModel | None:
    """The model of this name in the list, or the file that `OWNER/REPOSITORY/FILE.gguf` names; None for other names.

    Raises EngineFault for a hub's file that is no single GGUF.
    """
    for model in HUB:
        if model.name == name.lower():
            return model
    parts = name.split("/")
    if len(parts) < 3 or name.startswith(("/", ".", "~")):
        return None
    if any(part in ("", ".", "..") for part in parts) or not name.lower().endswith(".gguf"):
        raise EngineFault(f"{name} names no file of the hub. Write OWNER/REPOSITORY/FILE.gguf.")
    file = "/".join(parts[2:])
    return HubModel(parts[-1][: -len(".gguf")].lower(), "/".join(parts[:2]), file, 0, 0, "")
