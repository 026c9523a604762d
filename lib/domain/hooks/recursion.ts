/**
 * Keeps hooks that call this instance from hearing of what their own calls do, and so from calling it for ever. A call has a
 * header that names it. A request with this header, and what workers do for the request, are caused by the call.
 */
import type { HookDelivery, HookRecord } from '../../records/hooks.ts';
import type { HookDeliveries } from '../../store/hooks/deliveries.ts';

const HEADER = 'X-Hook-Call';
const FORM = /^(\d{1,15})\.([\w-]{1,80})\.([\da-f-]{36})$/;

/** Calls that may lead to one another. Hooks of the instance hear of what the last of them did all the same. */
const MAX_CALLS = 4;

export const callHeader = ({ hookId, id, key }: HookDelivery): Record<string, string> =>
  key === undefined ? {} : { [HEADER]: `${hookId}.${id}.${key}` };

/** The call of a hook that a request says it is, bounded. */
export function hookCallOf(headers: Headers): string | undefined {
  const given = headers.get(HEADER) ?? '';
  return FORM.test(given) ? given : undefined;
}

/** The hooks whose calls caused something, as far as this call caused it. A call that nobody made caused nothing. */
export async function causingHooks(
  deliveries: HookDeliveries,
  call: string | undefined,
): Promise<readonly number[]> {
  const [, hookId, id, key] = FORM.exec(call ?? '') ?? [];
  if (id === undefined) return [];
  const delivery = await deliveries.get(Number(hookId), id);
  return delivery?.key === key ? [...(delivery?.causedBy ?? []), Number(hookId)] : [];
}

/** Whether a hook may hear of what calls of these hooks caused. */
export const mayHear = (
  causedBy: readonly number[],
  { id, owner }: Pick<HookRecord, 'id' | 'owner'>,
): boolean => !causedBy.includes(id) && (causedBy.length < MAX_CALLS || owner.kind === 'system');
