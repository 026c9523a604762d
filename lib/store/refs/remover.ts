import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { RefRules } from './protection-rules.ts';

export const remover: Remover<{ readonly refRules: RefRules }> = {
  ofProject: {
    rows: ['protection-rule', 'protection-rule-count'],
    run: ({ refRules }, { id }, deadline) => untilNoneLeft(() => refRules.removeOfProject(id), deadline),
  },
};
