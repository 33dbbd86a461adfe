import { CarrelError } from '../../base/errors.ts';

export function jobNotFound(): CarrelError {
  return new CarrelError('job_not_found', 'No job has this id. The list of jobs has those there are.');
}

export function documentNotFound(id: number): CarrelError {
  return new CarrelError('document_not_found', `No document has the id ${id}.`, { data: { document_id: id } });
}
