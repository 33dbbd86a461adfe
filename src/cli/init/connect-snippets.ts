import { clients } from './clients.ts';
import { snippetOf } from './edit-client.ts';
import { thisMachine } from './machine.ts';

/** Returns the configuration that connects each client to a running server, for users who edit it themselves. */
export async function connectSnippets(url: string, needsToken: boolean) {
  const machine = thisMachine();
  const remote = { url, token: needsToken ? '<token>' : undefined };
  return Promise.all(
    clients.map(async (client) => {
      const { id, title, next } = client;
      const [file] = client.files(machine);
      const entry = (file?.remote ?? client.remote)?.(remote);
      if (file === undefined || entry === undefined) return { id, title, next };
      const path = file.path.startsWith(machine.home) ? `~${file.path.slice(machine.home.length)}` : file.path;
      return { id, title, next, entry: { file: path, text: await snippetOf(client, entry) } };
    }),
  );
}
