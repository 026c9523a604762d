import type { LoadedAward } from '../../domain/award-emoji/awards.ts';
import { TYPES } from '../noteable-types.ts';
import { author as authorOf } from '../users/present.ts';

export function awardOf({ award, author }: LoadedAward, baseUrl: string) {
  const { id, name, noteable, noteId, createdAt, updatedAt } = award;
  return {
    id,
    name,
    user: authorOf(author, award.author, baseUrl),
    created_at: createdAt,
    updated_at: updatedAt,
    awardable_id: noteId ?? Number(noteable.id),
    awardable_type: noteId === undefined ? TYPES[noteable.kind] : 'Note',
  };
}
