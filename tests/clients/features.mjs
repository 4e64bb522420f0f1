// Runs what a client can do against a server, one feature after another, and prints a line of JSON for each: features.py
// for clients of Node.

export const URL = (process.env.SERVER_URL ?? 'http://127.0.0.1:8006').replace(/\/$/, '');
export const KEY = process.env.SERVER_KEY || 'none';
export const MODEL = process.env.SERVER_MODEL ?? 'duologue-mini';

const features = [];

/** Names a feature; the function throws where it does not work. */
export function feature(name, check) {
    features.push([name, check]);
}

/** Run the features, or those named on the command line. */
export async function run(client, version) {
    const named = process.argv.slice(2);
    for (const [name, check] of features) {
        if (named.length && !named.includes(name)) continue;
        let detail = '';
        try {
            await check();
        } catch (error) {
            detail = `${error?.name ?? 'Error'}: ${error?.message ?? error}`.slice(0, 300);
            console.error(error);
            process.exitCode = 1;
        }
        console.log(JSON.stringify({ client, version, feature: name, works: !detail, detail }));
    }
}
