"""The vocabulary and grammar that all generators draw from: phrases, words, numbers, names, typing mistakes."""
