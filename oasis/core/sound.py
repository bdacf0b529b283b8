"""Text that can be written as UTF-8, whatever came."""


def sound(text: str) -> str:
    """The text with halves of a character joined where both are there, and replaced (U+FFFD) where one is alone.

    Servers send half an emoji a piece, file systems give bytes that are no UTF-8 as lone surrogates.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
