PACK=None
