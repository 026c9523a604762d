import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Packages } from './packages.ts';

export const remover: Remover<{ readonly packages: Packages }> = {
  ofProject: {
    rows: [
      'package',
      'package-name',
      'package-order',
      'package-count',
      'package-content',
      'package-file',
      'newest-package-file',
    ],
    run: ({ packages }, { id }, deadline) =>
      untilNoneLeft(() => packages.removeOfProject(id, deadline), deadline),
  },
};
