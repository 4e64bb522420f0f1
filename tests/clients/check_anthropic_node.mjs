// The Node client of Anthropic's API against a server.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import { feature, KEY, MODEL, run, URL } from './features.mjs';

const client = new Anthropic({ baseURL: URL, apiKey: KEY, maxRetries: 0 });
const messages = [{ role: 'user', content: 'Hello, who are you?' }];
const weather = {
    name: 'weather',
    input_schema: { type: 'object', properties: { city: { type: 'string', maxLength: 12 } }, required: ['city'] },
};

feature('messages', async () => {
    const reply = await client.messages.create({ model: MODEL, max_tokens: 100, messages });
    assert.equal(reply.content[0].type, 'text');
});

feature('messages.stream', async () => {
    const stream = client.messages.stream({ model: MODEL, max_tokens: 100, messages });
    const final = await stream.finalMessage();
    assert(final.usage.output_tokens > 0);
});

feature('a forced tool, streamed', async () => {
    const stream = client.messages.stream({ model: MODEL, max_tokens: 100, messages, tools: [weather], tool_choice: { type: 'any' } });
    const final = await stream.finalMessage();
    assert.equal(final.stop_reason, 'tool_use');
    assert.equal(typeof final.content.find((block) => block.type === 'tool_use').input.city, 'string');
});

feature('messages.countTokens', async () => {
    assert((await client.messages.countTokens({ model: MODEL, messages })).input_tokens > 3);
});

feature('models.list', async () => {
    const names = [];
    for await (const model of client.models.list()) names.push(model.id);
    assert(names.includes(MODEL));
});

feature('errors have their types', async () => {
    await assert.rejects(client.messages.create({ model: 'no-such-model', max_tokens: 1, messages }), Anthropic.NotFoundError);
});

await run('anthropic-sdk-typescript', JSON.parse(readFileSync(new globalThis.URL('./node_modules/@anthropic-ai/sdk/package.json', import.meta.url))).version);
