"""What engines share that write a token at a time themselves: the choice of tokens, their text, the folder of a model, and its memory."""
