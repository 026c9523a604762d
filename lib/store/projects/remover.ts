import type { Remover } from '../deletion/remover.ts';
import { idOf } from '../row-keys/key.ts';
import type { Projects } from './projects.ts';

interface Stores {
  readonly projects: Projects;
}

export const remover: Remover<Stores> = {
  ofProject: {
    // The record is deleted last, by `Projects.forget`.
    rows: ['project'],
    rowsWithRecord: ['path', 'project-name'],
  },
  ofUserRows: {
    rows: ['project'],
    byRow: {
      OWN: async ({ projects }, { what }, { userId, deleteOwned }) => {
        const project = await projects.get(idOf(what));
        // The index may not show yet that it moved elsewhere.
        if (project?.namespaceKind === 'user' && project.ownerId === userId)
          await deleteOwned.project(project);
      },
    },
  },
};
