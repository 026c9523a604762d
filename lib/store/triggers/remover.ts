import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Triggers } from './triggers.ts';

export const remover: Remover<{ readonly triggers: Triggers }> = {
  ofProject: {
    rows: ['trigger', 'trigger-count', 'trigger-token'],
    run: ({ triggers }, { id }, deadline) => untilNoneLeft(() => triggers.removeOfProject(id), deadline),
  },
};
