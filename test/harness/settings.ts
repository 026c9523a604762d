import type { Service } from './service.ts';

/** Changes settings of the instance as its administrator does; effective at once in the process of the service. */
export async function changeSettings(
  service: Pick<Service, 'call' | 'rootToken'>,
  json: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { status, body } = await service.call('PUT', '/application/settings', {
    token: service.rootToken,
    json,
  });
  if (status !== 200) throw new Error(`settings: ${status} ${JSON.stringify(body)}`);
}
