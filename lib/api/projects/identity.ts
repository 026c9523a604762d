import type { ProjectRecord } from '../../records/projects.ts';

/** The fields that tell which project something is about. */
export const projectIdentity = (project: ProjectRecord) => ({
  id: project.id,
  description: project.description,
  name: project.name,
  name_with_namespace: `${project.namespaceName} / ${project.name}`,
  path: project.path,
  path_with_namespace: project.fullPath,
  created_at: project.createdAt,
});
