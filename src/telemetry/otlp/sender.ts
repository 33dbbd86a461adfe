import { createServiceClient, type ServiceAnswer } from '../../http/service-client.ts';
import { toProtobuf } from './protobuf.ts';
import type { OtlpTarget } from './target.ts';

/** Max bytes of the receiver's answer, which is little more than an acknowledgement. */
const answerBytesMax = 64 * 1024;

/** Sends OTLP requests to the operator's receiver. */
export function createOtlpSender({ baseUrl, headers, timeoutMs, encoding }: OtlpTarget) {
  const type = encoding === 'json' ? 'application/json' : 'application/x-protobuf';
  const client = createServiceClient({
    baseUrl,
    headers: { ...headers, 'content-type': type },
    timeoutMs,
    answerBytesMax,
  });
  return {
    /** Sends a request and returns the receiver's answer; undefined if there was none. */
    async post(path: string, payload: object): Promise<ServiceAnswer | undefined> {
      const body = encoding === 'json' ? Buffer.from(JSON.stringify(payload)) : toProtobuf(payload);
      try {
        return await client.request({ method: 'POST', path, body, repeatable: true });
      } catch {
        return undefined;
      }
    },
    close: () => client.close(),
  };
}

export function isAccepted(status: number): boolean {
  return status >= 200 && status < 300;
}
