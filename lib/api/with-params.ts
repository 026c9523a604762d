import * as p from '../http/params.ts';

/** Path parameters: those that name the object, and those below it. */
export const withParams = <T extends p.Shape>(object: p.Shape, rest: T) =>
  p.params({ ...object, ...rest }) as p.Field<Readonly<Record<string, string | number>> & p.Output<T>>;
