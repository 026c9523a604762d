/**
 * The names of all fields of a record, for reads that leave out what its row has for indexes: as much again as a small record.
 * @param named the type sees to it that none is missing
 */
export const fieldsOf = <R>(named: Readonly<Record<keyof R, true>>): readonly string[] => Object.keys(named);
