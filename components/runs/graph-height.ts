/** The height of a run's graph. It is reserved before the graph is drawn, so that the page does not shift. */
export const GRAPH_HEIGHT = 'h-[45dvh] sm:h-[68dvh]';
