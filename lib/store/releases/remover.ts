import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Releases } from './releases.ts';

export const remover: Remover<{ readonly releases: Releases }> = {
  ofProject: {
    rows: ['release', 'release-in-list', 'release-evidence', 'release-count'],
    run: ({ releases }, { id }, deadline) => untilNoneLeft(() => releases.removeOfProject(id), deadline),
  },
};
