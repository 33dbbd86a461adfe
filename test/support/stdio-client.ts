import { type ChildProgram, type ProgramFolders, startProgram } from './child-program.ts';

export type Message = Record<string, unknown> & { result?: Record<string, unknown>; error?: RpcError };

export interface RpcError {
  code: number;
  message: string;
  data?: Record<string, unknown>;
}

/** Raw JSON-RPC over a child's standard streams, without a library in between. */
export interface StdioClient {
  readonly program: ChildProgram;
  /** Every line received, parsed; a line that is not JSON fails the next wait. */
  readonly messages: Message[];
  write(text: string | Buffer): void;
  send(message: object): void;
  /** Waits for the first matching message. Messages that arrived earlier count too. */
  next(matches: (message: Message) => boolean): Promise<Message>;
  request(id: string | number, method: string, params?: object): Promise<Message>;
  handshake(revision?: string): Promise<Message>;
  /** Closes the input and returns the exit code. */
  end(): Promise<number | null>;
}

export function startStdioClient(
  file: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
  folders?: ProgramFolders,
): StdioClient {
  const program = startProgram(file, args, env, folders);
  const { stdin, stdout } = program.process;
  const messages: Message[] = [];
  const watchers = new Set<() => void>();
  let failure: Error | undefined;
  let incompleteLine = '';
  stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (incompleteLine + text).split('\n');
    incompleteLine = lines.pop() ?? '';
    for (const line of lines) {
      try {
        messages.push(JSON.parse(line));
      } catch {
        failure = new Error(`stdout carries something that is not JSON: ${line.slice(0, 200)}`);
      }
    }
    for (const check of watchers) check();
  });
  program.process.once('close', () => {
    failure ??= new Error('the program ended');
    for (const check of watchers) check();
  });
  stdin.on('error', () => {});

  const client: StdioClient = {
    program,
    messages,
    write: (text) => void stdin.write(text),
    send: (message) => client.write(`${JSON.stringify(message)}\n`),
    next: (matches) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = messages.find(matches);
          if (found) resolve(found);
          else if (failure) reject(failure);
          else return;
          watchers.delete(check);
        };
        watchers.add(check);
        check();
      }),
    request(id, method, params) {
      client.send({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) });
      return client.next((message) => message['id'] === id && !('method' in message));
    },
    async handshake(revision = '2025-11-25') {
      const answer = await client.request('handshake', 'initialize', initializeParams(revision));
      client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      return answer;
    },
    end() {
      stdin.end();
      return program.exited;
    },
  };
  return client;
}

export function initializeParams(revision: string): object {
  return { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
}
