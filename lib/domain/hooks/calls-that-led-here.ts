/**
 * Keeps hooks from calling this instance about what their own calls do, for ever. A call has a header that names it; what a
 * request with this header changes, also by way of workers, goes back to the call.
 */
import type { HookDelivery, HookRecord } from '../../records/hooks.ts';
import type { HookDeliveries } from '../../store/hooks/deliveries.ts';
import { hookCall } from '../../telemetry/correlation.ts';

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

/** The hooks whose calls led to what a worker does. Of a call that nobody made there are none. */
export async function callsThatLedHere(deliveries: HookDeliveries): Promise<readonly number[]> {
  const [, hookId, id, key] = FORM.exec(hookCall() ?? '') ?? [];
  if (id === undefined) return [];
  const delivery = await deliveries.get(Number(hookId), id);
  return delivery?.key === key ? [...(delivery?.ledHere ?? []), Number(hookId)] : [];
}

/** Whether a hook may hear of what these calls led to: its own is none of them. */
export const mayHear = (
  ledHere: readonly number[],
  { id, owner }: Pick<HookRecord, 'id' | 'owner'>,
): boolean => !ledHere.includes(id) && (ledHere.length < MAX_CALLS || owner.kind === 'system');
