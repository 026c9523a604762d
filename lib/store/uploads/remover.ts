import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Uploads } from './uploads.ts';

/** Attached files have no rows. */
export const remover: Remover<{ readonly uploads: Uploads }> = {
  ofProject: {
    rows: [],
    run: ({ uploads }, { id }, deadline) => untilNoneLeft(() => uploads.removeOfProject(id), deadline),
  },
};
