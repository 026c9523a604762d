import type { Answer, Service } from './service.ts';

/** @throws unless the request, of whoever's token it is, succeeds */
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
