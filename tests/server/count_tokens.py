"""How many tokens the tiny model's tokenizer makes of chats: `count_tokens.py FOLDER`, with a JSON list of texts on standard input.

Runs in the server's environment. What the server says that it was charged for can be held against it."""

import json
import sys

from transformers import AutoTokenizer

words = AutoTokenizer.from_pretrained(sys.argv[1])
chats = [[{"role": "user", "content": text}] for text in json.load(sys.stdin)]
print(json.dumps([len(words.apply_chat_template(chat, add_generation_prompt=True)["input_ids"]) for chat in chats]))
