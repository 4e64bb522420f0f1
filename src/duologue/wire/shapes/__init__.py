"""The answers of the OpenAI dialect as types, for the API's description."""
