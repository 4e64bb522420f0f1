"""What people bring up in a chat, with answers: small talk, jokes, what they tell of themselves, and what is out of
reach for a small model. Used by the conversational skills (`manners`, `recall`, `scope`, `instructed`, `spoken`).
"""
