"""The mouth of a reply: from the sounds of its words to the curve that a face follows."""
