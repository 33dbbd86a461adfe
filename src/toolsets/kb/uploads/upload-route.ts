import type { SecretRoute } from '../../../tools/secret-route.ts';
import type { Uploads } from './create-uploads.ts';

export const uploadPath = '/kb/uploads/';

/** Handles `PUT /kb/uploads/<upload_id>/<secret>` with the file's bytes. kb_upload_finish then completes the upload. */
export function createUploadRoute(uploads: Pick<Uploads, 'receive'>): SecretRoute {
  return {
    pathPrefix: uploadPath,
    method: 'PUT',
    async handle({ rest, contentLength, body, signal }) {
      const [id = '', secret = ''] = rest.split('/');
      const { receivedBytes } = await uploads.receive(id, secret, { content: body, length: contentLength }, signal);
      return { upload_id: id, received_bytes: receivedBytes };
    },
  };
}
