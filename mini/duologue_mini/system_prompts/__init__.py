"""What operators write in system prompts: roles, rules, tones and languages. Used by the skills `instructed` and
`spoken`.
"""
