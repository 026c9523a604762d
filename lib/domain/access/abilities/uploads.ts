import { GUEST } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

export const project = {
  upload_file: { level: GUEST, reader: 'signed-in', writes: true },
} as const satisfies ProjectRules;
