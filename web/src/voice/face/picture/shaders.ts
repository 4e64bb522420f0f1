// The programs that the graphics card runs for a picture's face: the picture itself on its grid, and what is between the lips.

/** `part`: left, top, width and height of what is shown of the picture. */
const PLACE = `
  attribute vec2 point;
  uniform vec4 part;
  vec4 place() {
    vec2 shown = (point - part.xy) / part.zw;
    return vec4(shown.x * 2.0 - 1.0, 1.0 - shown.y * 2.0, 0.0, 1.0);
  }`;

export const PICTURE = {
  vertex: `${PLACE}
  attribute vec2 rest;
  varying vec2 from;
  void main() {
    from = rest;
    gl_Position = place();
  }`,
  fragment: `
  precision mediump float;
  uniform sampler2D picture;
  varying vec2 from;
  void main() {
    gl_FragColor = vec4(texture2D(picture, from).rgb, 1.0);
  }`,
} as const;

export const INSIDE = {
  vertex: `${PLACE}
  attribute vec3 inside;
  varying vec3 where;
  void main() {
    where = inside;
    gl_Position = place();
  }`,
  // Lengths in mouth widths: upper teeth are 0.13 high, the lower ones show when the mouth is wide open.
  fragment: `
  precision mediump float;
  uniform float tongue;
  varying vec3 where;
  void main() {
    float across = where.x;
    float below = where.y;
    float above = where.z;
    vec3 colour = mix(vec3(0.20, 0.05, 0.06), vec3(0.07, 0.015, 0.02), smoothstep(0.0, 0.2, min(below, above)));
    float hump = sqrt(max(0.0, 1.0 - across * across * 1.7));
    float reach = (0.14 + 0.16 * tongue) * hump;
    vec3 flesh = mix(vec3(0.45, 0.17, 0.18), vec3(0.70, 0.33, 0.34), smoothstep(0.0, reach + 0.01, above));
    colour = mix(colour, flesh, smoothstep(reach, reach - 0.05, above) * step(0.001, hump));
    float edge = 0.13 * (1.0 - 0.45 * across * across);
    float teeth = smoothstep(edge, edge - 0.02, below) * smoothstep(0.98, 0.75, abs(across));
    vec3 white = vec3(0.90, 0.87, 0.82) * (0.72 + 0.28 * smoothstep(0.0, 0.07, below)) * (1.0 - 0.3 * across * across);
    colour = mix(colour, white, teeth * 0.95);
    gl_FragColor = vec4(colour, 1.0);
  }`,
} as const;
