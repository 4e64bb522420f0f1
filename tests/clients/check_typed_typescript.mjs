// The npm package that `make client` generates, from its file: a program in TypeScript is compiled against its types, and run.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

import { feature, KEY, MODEL, run, URL } from './features.mjs';

const PROGRAM = `
import { createDuologueClient, type Schemas } from 'duologue-client';

export async function converse(baseUrl: string, key: string, model: string) {
    const client = createDuologueClient({ baseUrl, key });

    const listed = await client.GET('/v1/models');
    const names: string[] = listed.data!.data.map((entry: Schemas['ModelEntry']) => entry.id);

    const reply = await client.POST('/v1/chat/completions', {
        body: { model, messages: [{ role: 'user', content: 'Hello, who are you?' }], max_tokens: 20 } as Schemas['ChatCompletionBody'],
    });
    const text: string | null = reply.data!.choices[0].message.content;

    const made = await client.POST('/api/conversations', { body: { title: 'Typed' } as Schemas['NewConversationBody'] });
    const conversation = made.data as Schemas['Conversation'];
    const id = () => crypto.randomUUID().replaceAll('-', '');
    const started = await client.POST('/api/conversations/{id}/runs', {
        params: { path: { id: conversation.id } },
        body: { verb: 'send', run: id(), message: { id: id(), content: [{ type: 'text', text: 'Hello' }] } } as Schemas['SendBody'],
    });
    let run = started.data as Schemas['Run'];
    const until = Date.now() + 60_000;
    while (!run.outcome && Date.now() < until) {
        const read = await client.GET('/api/runs/{run}', { params: { path: { run: run.id } } });
        run = read.data!;
        await new Promise((done) => setTimeout(done, 100));
    }

    const gone = await client.GET('/api/runs/{run}', { params: { path: { run: 'nosuchrun' } } });
    const code: string = gone.error!.error.code;
    // @ts-expect-error There is no such address.
    const nothing = await client.GET('/v1/no-such-thing');
    return { names, text, outcome: run.outcome, code, nothing: nothing.response.status };
}
`;

let found;
feature('a program is compiled against its types', async () => {
    writeFileSync('program.ts', PROGRAM);
    const flags = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom', 'program.ts'];
    try {
        execFileSync('node_modules/.bin/tsc', flags, { encoding: 'utf8' });
    } catch (error) {
        throw new Error(error.stdout);
    }
    const { converse } = await import('./program.js');
    found = await converse(URL, KEY, MODEL);
});
feature('models', () => {
    if (!found.names.includes(MODEL)) throw new Error(found.names);
});
feature('a chat completion', () => {
    if (!found.text) throw new Error('no text');
});
feature('a conversation and a run', () => {
    if (found.outcome !== 'done') throw new Error(found.outcome);
});
feature('errors have their types', () => {
    if (found.code !== 'not_found' || found.nothing !== 404) throw new Error(found.code);
});

process.chdir(new globalThis.URL('.', import.meta.url).pathname);
const { version } = JSON.parse(readFileSync('node_modules/duologue-client/package.json', 'utf8'));
await run('duologue-client (TypeScript, generated)', version);
