// The Vercel AI SDK against a server, by its provider for compatible servers.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, Output, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import { feature, KEY, MODEL, run, URL } from './features.mjs';

const provider = createOpenAICompatible({ name: 'server', baseURL: `${URL}/v1`, apiKey: KEY, supportsStructuredOutputs: true });
const model = provider(MODEL);
const few = { model, maxOutputTokens: 60, maxRetries: 0 };

feature('generateText', async () => {
    const { usage, finishReason } = await generateText({ ...few, prompt: 'Hello, who are you?' });
    assert(usage.outputTokens > 0);
    assert(['stop', 'length'].includes(finishReason));
});

feature('streamText', async () => {
    const { textStream, finishReason } = streamText({ ...few, prompt: 'Hello, who are you?' });
    let text = '';
    for await (const part of textStream) text += part;
    assert(text || (await finishReason) === 'length');
});

feature('an object', async () => {
    const { output } = await generateText({
        ...few,
        prompt: 'A colour?',
        output: Output.object({ schema: z.object({ colour: z.enum(['red', 'blue']) }) }),
    });
    assert(['red', 'blue'].includes(output.colour));
});

feature('a tool is run', async () => {
    const called = [];
    await generateText({
        ...few,
        prompt: 'The weather in Oslo?',
        toolChoice: { type: 'tool', toolName: 'weather' },
        stopWhen: stepCountIs(1),
        tools: {
            weather: tool({
                description: 'The weather of a city',
                inputSchema: z.object({ city: z.enum(['Oslo', 'Rome']) }),
                execute: async (given) => (called.push(given), 'sunny'),
            }),
        },
    });
    assert.equal(called.length, 1);
});

feature('aborting', async () => {
    const controller = new AbortController();
    const { textStream } = streamText({ ...few, maxOutputTokens: 500, prompt: 'Hello', abortSignal: controller.signal, onError: () => {} });
    for await (const _ of textStream) controller.abort();
});

feature('completion models', async () => {
    const { text } = await generateText({ ...few, model: provider.completionModel(MODEL), maxOutputTokens: 6, prompt: 'One, two,' });
    assert(text);
});

await run('@ai-sdk/openai-compatible', JSON.parse(readFileSync(new globalThis.URL('./node_modules/@ai-sdk/openai-compatible/package.json', import.meta.url))).version);
