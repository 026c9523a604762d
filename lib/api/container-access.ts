import type { ContainerAccess } from '../domain/labels/containers.ts';

/** The project or group that the access rule of an endpoint loaded. */
export const accessOf = <A extends ContainerAccess = ContainerAccess>(found: {
  readonly project?: ContainerAccess | undefined;
  readonly group?: ContainerAccess | undefined;
}): A => (found.project ?? found.group)! as A;
