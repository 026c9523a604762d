import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { ErrorTracking } from './error-tracking.ts';
import type { TrackedErrors } from './tracked-errors.ts';

export const remover: Remover<{
  readonly errorTracking: ErrorTracking;
  readonly trackedErrors: TrackedErrors;
}> = {
  ofProject: {
    rows: [
      'error-tracking-settings',
      'client-key',
      'client-key-text',
      'client-key-count',
      'tracked-error',
      'error-fingerprint',
      'tracked-error-count',
      'error-event',
    ],
    // First the keys, so that nothing more is sent.
    run: async ({ errorTracking, trackedErrors }, { id }, deadline) =>
      (await untilNoneLeft(() => errorTracking.removeOfProject(id), deadline)) &&
      (await untilNoneLeft(() => trackedErrors.removeOfProject(id), deadline)),
  },
};
