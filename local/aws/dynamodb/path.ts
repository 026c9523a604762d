/** An attribute's path in an item: `['a', 0, 'b']` is `a[0].b`. */
export type Path = readonly (string | number)[];
