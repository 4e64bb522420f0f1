// The Node client of Ollama's API against a server's port for it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ollama } from 'ollama';
import { feature, MODEL, run } from './features.mjs';

const client = new Ollama({ host: process.env.OLLAMA_URL ?? 'http://127.0.0.1:11434' });
const messages = [{ role: 'user', content: 'Hello, who are you?' }];
const options = { num_predict: 40 };

feature('chat', async () => {
    const reply = await client.chat({ model: MODEL, messages, options });
    assert(reply.done && reply.eval_count > 0);
});

feature('chat, streamed', async () => {
    let last;
    for await (const part of await client.chat({ model: MODEL, messages, options, stream: true })) last = part;
    assert(last.done);
});

feature('generate', async () => {
    assert((await client.generate({ model: MODEL, prompt: 'Hello', options })).done);
});

feature('list and show', async () => {
    const { models } = await client.list();
    assert(models.some((model) => model.name.startsWith(MODEL)));
    assert((await client.show({ model: MODEL })).capabilities.includes('completion'));
});

await run('ollama-js', JSON.parse(readFileSync(new globalThis.URL('./node_modules/ollama/package.json', import.meta.url))).version);
