/** A runner of the tests' own: it takes jobs and reports them, as runners do. */
import type { Answer, Service } from './service.ts';

export interface SmallRunner {
  readonly id: number;
  readonly token: string;
  /** Asks for a job. */
  take(): Promise<Answer>;
}

const ALL_FEATURES = {
  refspecs: true,
  upload_multiple_artifacts: true,
  artifacts_exclude: true,
  multi_build_steps: true,
  return_exit_code: true,
};

/** Registers a runner with a registration token. */
export async function smallRunner(
  service: Service,
  registration: string,
  more: Record<string, unknown> = {},
  features: Readonly<Record<string, boolean>> = ALL_FEATURES,
): Promise<SmallRunner> {
  const { status, body } = await service.call('POST', '/runners', { json: { token: registration, ...more } });
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  const { id, token } = body as { id: number; token: string };
  const info = { name: 'small-runner', version: '1', features };
  return { id, token, take: () => service.call('POST', '/jobs/request', { json: { token, info } }) };
}

/** A job that was taken. */
export interface Taken {
  readonly id: number;
  readonly token: string;
}

/** Sends a piece of the trace of a job. */
export const sendTrace = (service: Service, { id, token }: Taken, start: number, text: string) =>
  fetch(`${service.url}/api/v4/jobs/${id}/trace`, {
    method: 'PATCH',
    headers: {
      'JOB-TOKEN': token,
      'Content-Type': 'text/plain',
      'Content-Range': `${start}-${start + Buffer.byteLength(text) - 1}`,
    },
    body: text,
  });

export const report = (service: Service, { id, token }: Taken, state: string, more = {}): Promise<Answer> =>
  service.call('PUT', `/jobs/${id}`, { json: { token, state, ...more } });

/** Sends a file that a job left, as runners do: the facts in the query, the file in a form. */
export async function sendArtifact(
  service: Service,
  { id, token }: Taken,
  bytes: Uint8Array | string,
  { filename = 'artifacts.zip', ...query }: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const form = new FormData();
  form.append('file', new Blob([bytes as BlobPart]), filename);
  const answer = await fetch(`${service.url}/api/v4/jobs/${id}/artifacts?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers: { 'JOB-TOKEN': token },
    body: form,
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('json') === true;
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
}
