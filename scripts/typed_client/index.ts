import createClient, { type Client, type ClientOptions } from 'openapi-fetch';

import type { components, paths } from './schema.js';

export type { components, operations, paths } from './schema.js';
/** The bodies and answers of the API, by their names. */
export type Schemas = components['schemas'];

/**
 * A client of the server at `baseUrl`, with the API key it asks for, if it does. Its answers are the JSON ones; of what else a route may
 * answer (a stream, a file) `response` is the way: `parseAs: 'stream'`.
 */
export function createDuologueClient(options: ClientOptions & { key?: string }): Client<paths, 'application/json'> {
    const { key, headers, ...rest } = options;
    const authorization = key ? { Authorization: `Bearer ${key}` } : {};
    return createClient<paths, 'application/json'>({ ...rest, headers: { ...authorization, ...headers } as HeadersInit });
}
