import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Deployments } from './deployments.ts';
import type { Environments } from './environments.ts';

export const remover: Remover<{
  readonly environments: Environments;
  readonly deployments: Deployments;
}> = {
  ofProject: {
    rows: [
      'environment',
      'environment-name',
      'environment-count',
      'deployment',
      'deployment-in-list',
      'deployment-count',
    ],
    run: async ({ environments, deployments }, { id }, deadline) =>
      (await untilNoneLeft(() => deployments.removeOfProject(id), deadline)) &&
      (await untilNoneLeft(() => environments.removeOfProject(id), deadline)),
  },
};
