"""asyncua's protocol classes without types: they are generated, and a type checker cannot follow how they are exported.

Importing this file loads asyncua.
"""

import importlib
from typing import Any

ua: Any = importlib.import_module("asyncua.ua")
from_binary: Any = importlib.import_module("asyncua.ua.ua_binary").struct_from_binary
"""A structure from its wire bytes: `from_binary(type, buffer)`."""
to_binary: Any = importlib.import_module("asyncua.ua.ua_binary").struct_to_binary
"""A structure's wire bytes."""
pack: Any = importlib.import_module("asyncua.ua.ua_binary").pack_uatype
"""One value's wire bytes: `pack(VariantType, value)`."""
unpack: Any = importlib.import_module("asyncua.ua.ua_binary").unpack_uatype
"""One value from its wire bytes: `unpack(VariantType, buffer)`."""


def status_name(code: int) -> str:
    """A status code's name; its number where the standard has none."""
    name = str(ua.status_codes.get_name_and_doc(code)[0])
    return name if name.isidentifier() else f"status 0x{code:08X}"
