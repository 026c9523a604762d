import type { Answer, Service } from './service.ts';

/** Sends a request with a token. @throws Error unless it succeeds */
export async function doneAs(
  service: Pick<Service, 'call'>,
  token: string,
  method: string,
  path: string,
  json?: unknown,
): Promise<Answer> {
  const answer = await service.call(method, path, { token, ...(json === undefined ? {} : { json }) });
  if (answer.status >= 300)
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer;
}
