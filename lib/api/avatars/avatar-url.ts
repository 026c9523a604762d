import type { AvatarRecord } from '../../records/avatars.ts';
import type { Subject } from '../../records/subject.ts';

/** Where an avatar is to be had; null where there is none. */
export const avatarUrl = (
  kind: Subject['kind'],
  { id, avatar }: { readonly id: number; readonly avatar?: AvatarRecord | null | undefined },
  baseUrl: string,
): string | null =>
  avatar == null ? null : `${baseUrl}/uploads/-/system/${kind}/avatar/${id}/${avatar.filename}`;
