/** How high the graph of a run is, also before it is drawn: nothing below it moves. */
export const GRAPH_HEIGHT = 'h-[45dvh] sm:h-[68dvh]';
