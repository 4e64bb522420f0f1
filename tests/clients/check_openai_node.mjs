// openai-node against a server.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { feature, KEY, MODEL, run, URL } from './features.mjs';

const client = new OpenAI({ baseURL: `${URL}/v1`, apiKey: KEY, maxRetries: 0 });
const messages = [{ role: 'user', content: 'Hello, who are you?' }];
const weather = {
    type: 'function',
    function: {
        name: 'weather',
        parameters: {
            type: 'object',
            properties: { city: { type: 'string', maxLength: 12 } },
            required: ['city'],
            additionalProperties: false,
        },
    },
};

feature('models.list', async () => {
    const names = [];
    for await (const model of client.models.list()) names.push(model.id);
    assert(names.includes(MODEL));
});

feature('chat', async () => {
    const reply = await client.chat.completions.create({ model: MODEL, messages, max_tokens: 20 });
    assert(reply.usage.completion_tokens > 0);
});

feature('chat, streamed', async () => {
    const stream = await client.chat.completions.create({ model: MODEL, messages, max_tokens: 20, stream: true });
    let last;
    for await (const chunk of stream) last = chunk;
    assert(['stop', 'length'].includes(last.choices[0].finish_reason));
});

feature('a stream that is aborted', async () => {
    const stream = await client.chat.completions.create({ model: MODEL, messages, max_tokens: 500, stream: true });
    for await (const _ of stream) {
        stream.controller.abort();
        break;
    }
    await client.chat.completions.create({ model: MODEL, messages, max_tokens: 1 });
});

feature('chat.completions.parse', async () => {
    const Answer = z.object({ colour: z.enum(['red', 'blue']) });
    const reply = await client.chat.completions.parse({
        model: MODEL,
        messages: [{ role: 'user', content: 'A colour, please.' }],
        max_tokens: 60,
        response_format: zodResponseFormat(Answer, 'answer'),
    });
    assert(['red', 'blue'].includes(reply.choices[0].message.parsed.colour));
});

feature('runTools', async () => {
    const called = [];
    const runner = client.chat.completions.runTools(
        {
            model: MODEL,
            messages: [{ role: 'user', content: 'The weather in Oslo?' }],
            max_tokens: 100,
            tool_choice: { type: 'function', function: { name: 'weather' } },
            tools: [
                {
                    type: 'function',
                    function: {
                        ...weather.function,
                        parse: JSON.parse,
                        function: (given) => (called.push(given), 'sunny'),
                    },
                },
            ],
        },
        { maxChatCompletions: 2 },
    );
    await runner.done().catch(() => {});
    assert(called.length > 0);
});

feature('completions', async () => {
    // Without ignore_eos a small model may stop by itself.
    const reply = await client.completions.create({ model: MODEL, prompt: 'One, two,', max_tokens: 5, ignore_eos: true });
    assert.equal(reply.choices[0].finish_reason, 'length');
});

feature('responses', async () => {
    const reply = await client.responses.create({ model: MODEL, input: 'Hello', max_output_tokens: 200, reasoning: { effort: 'none' } });
    assert(reply.output_text);
});

feature('responses.stream', async () => {
    const stream = client.responses.stream({ model: MODEL, input: 'Hello', max_output_tokens: 200, reasoning: { effort: 'none' } });
    const kinds = new Set();
    for await (const event of stream) kinds.add(event.type);
    assert(kinds.has('response.completed'));
    assert((await stream.finalResponse()).output_text);
});

feature('errors have their types', async () => {
    await assert.rejects(client.chat.completions.create({ model: 'no-such-model', messages }), OpenAI.NotFoundError);
    await assert.rejects(client.chat.completions.create({ model: MODEL, messages, top_p: 9 }), OpenAI.BadRequestError);
});

await run('openai-node', JSON.parse(readFileSync(new globalThis.URL('./node_modules/openai/package.json', import.meta.url))).version);
