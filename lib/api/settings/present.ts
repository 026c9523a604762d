import { aliases, attributes } from '../../domain/settings/attributes.ts';
import type { AllSettings } from '../../domain/settings/change.ts';

/** Clients expect an id; there is only one set of settings. */
const ID = 1;

/** @param runnersToken registration token of runners of the instance */
export function presentSettings({ values, createdAt, updatedAt }: AllSettings, runnersToken: string) {
  const visible = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      attributes[name]?.type === 'decimal' && typeof value === 'number' ? decimalText(value) : value,
    ]),
  );
  const shownAliases = Object.entries(aliases).flatMap(([name, { of, shown }]) =>
    shown ? [[name, visible[of]] as const] : [],
  );
  return {
    id: ID,
    created_at: createdAt,
    updated_at: updatedAt,
    ...visible,
    ...Object.fromEntries(shownAliases),
    runners_registration_token: runnersToken,
  };
}

/** All digits, at least one of them after the point: `1.0`, `0.25`. */
const decimalText = (value: number): string =>
  value.toLocaleString('en-US', { useGrouping: false, minimumFractionDigits: 1, maximumFractionDigits: 20 });
