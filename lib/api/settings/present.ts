import { aliases } from '../../domain/settings/attributes.ts';
import type { AllSettings } from '../../domain/settings/change.ts';

/** Clients expect an id; there is only one set of settings. */
const ID = 1;

export function presentSettings({ values, createdAt, updatedAt }: AllSettings) {
  const shownAliases = Object.entries(aliases).flatMap(([name, { of, shown }]) =>
    shown ? [[name, values[of]] as const] : [],
  );
  return {
    id: ID,
    created_at: createdAt,
    updated_at: updatedAt,
    ...values,
    ...Object.fromEntries(shownAliases),
  };
}
