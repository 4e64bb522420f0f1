// A picture whose mouth, lids and head move: the grid of `warp` drawn with WebGL, or, where there is none, the still picture. A chunk of its own,
// loaded when a picture is shown.
import { avatars as words } from "../../../language/en/voice/avatars";
import type { Landmarks } from "../../../wire/voice/avatars";
import type { Pose } from "../pose";
import type { FaceRenderer } from "../renderer";
import { faceFrame, visiblePart } from "./face_frame";
import { insideSize, mouthInside, POINT } from "./mouth_inside";
import { INSIDE, PICTURE } from "./shaders";
import { buildWarp, type Warp, warped } from "./warp";

const FLOAT = Float32Array.BYTES_PER_ELEMENT;
/** In mouth widths: lips that are less apart are closed. */
const PARTED = 0.004;

/** A face whose landmarks may change while it is shown: in the editor. */
export interface MarkedFace extends FaceRenderer {
  mark(landmarks: Landmarks): void;
}

/** Opens a picture from the bytes of its file. */
export function pictureFace(file: ArrayBuffer, landmarks: Landmarks): (canvas: HTMLCanvasElement, signal: AbortSignal) => Promise<MarkedFace> {
  return async (canvas, signal) => {
    const picture = await createImageBitmap(new Blob([file])).catch(() => Promise.reject(new Error(words().brokenPicture)));
    if (signal.aborted) {
      picture.close();
      throw new DOMException("The face was closed.", "AbortError");
    }
    const gl = canvas.getContext("webgl", { alpha: true, antialias: true, premultipliedAlpha: true });
    return gl ? new PictureFace(gl, picture, landmarks) : new StillPicture(canvas, picture, landmarks);
  };
}

/** What shows where the page may not use the graphics card. */
class StillPicture implements MarkedFace {
  readonly #canvas: HTMLCanvasElement;
  readonly #picture: ImageBitmap;
  #landmarks: Landmarks;

  constructor(canvas: HTMLCanvasElement, picture: ImageBitmap, landmarks: Landmarks) {
    [this.#canvas, this.#picture, this.#landmarks] = [canvas, picture, landmarks];
  }

  draw(_pose: Pose, _theme: "light" | "dark", width: number, height: number): void {
    if (this.#canvas.width === width && this.#canvas.height === height) return;
    [this.#canvas.width, this.#canvas.height] = [width, height];
    const { width: across, height: down } = this.#picture;
    const part = visiblePart(faceFrame(this.#landmarks, across / down), width / height);
    this.#canvas.getContext("2d")?.drawImage(this.#picture, part.left * across, part.top * down, part.width * across, part.height * down, 0, 0, width, height);
  }

  mark(landmarks: Landmarks): void {
    this.#landmarks = landmarks;
  }

  close(): void {
    this.#picture.close();
  }
}

class PictureFace implements MarkedFace {
  readonly #gl: WebGLRenderingContext;
  #warp: Warp;
  readonly #aspect: number;
  readonly #points: Float32Array;
  #inside: Float32Array;
  readonly #picture: Program;
  readonly #mouth: Program;
  readonly #pointBuffer: WebGLBuffer;
  readonly #restBuffer: WebGLBuffer;
  readonly #insideBuffer: WebGLBuffer;
  readonly #triangleBuffer: WebGLBuffer;
  readonly #texture: WebGLTexture;

  constructor(gl: WebGLRenderingContext, picture: ImageBitmap, landmarks: Landmarks) {
    this.#gl = gl;
    this.#aspect = picture.width / picture.height;
    this.#warp = buildWarp(landmarks, this.#aspect);
    this.#points = new Float32Array(this.#warp.rest.length);
    this.#inside = new Float32Array(insideSize(this.#warp));
    this.#picture = new Program(gl, PICTURE);
    this.#mouth = new Program(gl, INSIDE);
    this.#pointBuffer = filled(gl, gl.ARRAY_BUFFER, this.#points, gl.STREAM_DRAW);
    this.#restBuffer = filled(gl, gl.ARRAY_BUFFER, this.#warp.rest, gl.STATIC_DRAW);
    this.#insideBuffer = filled(gl, gl.ARRAY_BUFFER, this.#inside, gl.STREAM_DRAW);
    this.#triangleBuffer = filled(gl, gl.ELEMENT_ARRAY_BUFFER, this.#warp.triangles, gl.STATIC_DRAW);
    this.#texture = texture(gl, picture);
    picture.close();
  }

  draw(pose: Pose, _theme: "light" | "dark", width: number, height: number): void {
    const gl = this.#gl;
    const { canvas } = gl;
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    warped(this.#warp, pose, this.#points);
    const part = visiblePart(this.#warp.frame, width / Math.max(1, height));
    const shown: [number, number, number, number] = [part.left, part.top, part.width, part.height];
    this.#drawPicture(shown);
    if (mouthInside(this.#warp, this.#points, this.#inside) > PARTED) this.#drawInside(shown, pose.tongue ?? 0);
  }

  mark(landmarks: Landmarks): void {
    const gl = this.#gl;
    this.#warp = buildWarp(landmarks, this.#aspect);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#restBuffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, this.#warp.rest);
    // Another number of columns may lie between the corners of the mouth.
    this.#inside = new Float32Array(insideSize(this.#warp));
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#insideBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, this.#inside, gl.STREAM_DRAW);
  }

  close(): void {
    const gl = this.#gl;
    for (const buffer of [this.#pointBuffer, this.#restBuffer, this.#insideBuffer, this.#triangleBuffer]) gl.deleteBuffer(buffer);
    gl.deleteTexture(this.#texture);
    this.#picture.close();
    this.#mouth.close();
    // The browser keeps a few contexts only, and frees one that nobody refers to much later.
    gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  #drawPicture(part: [number, number, number, number]): void {
    const gl = this.#gl;
    this.#picture.use(part);
    gl.bindTexture(gl.TEXTURE_2D, this.#texture);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#pointBuffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, this.#points);
    this.#picture.read("point", 2, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#restBuffer);
    this.#picture.read("rest", 2, 0, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.#triangleBuffer);
    gl.drawElements(gl.TRIANGLES, this.#warp.triangles.length, gl.UNSIGNED_SHORT, 0);
  }

  #drawInside(part: [number, number, number, number], tongue: number): void {
    const gl = this.#gl;
    this.#mouth.use(part);
    this.#mouth.set("tongue", tongue);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#insideBuffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, this.#inside);
    this.#mouth.read("point", 2, POINT * FLOAT, 0);
    this.#mouth.read("inside", 3, POINT * FLOAT, 2 * FLOAT);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, this.#inside.length / POINT);
  }
}

/** A pair of shaders and the places of what they read. */
class Program {
  readonly #gl: WebGLRenderingContext;
  readonly #program: WebGLProgram;
  /** Asking for them in each frame takes longer than drawing. */
  readonly #uniforms = new Map<string, WebGLUniformLocation | null>();
  readonly #attributes = new Map<string, number>();

  constructor(gl: WebGLRenderingContext, source: { readonly vertex: string; readonly fragment: string }) {
    this.#gl = gl;
    const program = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, source.vertex], [gl.FRAGMENT_SHADER, source.fragment]] as const) {
      const shader = gl.createShader(type);
      if (!shader) throw new Error(words().noWebgl);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
      gl.deleteShader(shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(words().noWebgl);
    this.#program = program;
  }

  use(part: [number, number, number, number]): void {
    this.#gl.useProgram(this.#program);
    this.#gl.uniform4f(this.#uniform("part"), part[0], part[1], part[2], part[3]);
  }

  set(name: string, value: number): void {
    this.#gl.uniform1f(this.#uniform(name), value);
  }

  /** Reads an attribute from the bound buffer: `size` numbers of each point, `stride` and `offset` in bytes. */
  read(name: string, size: number, stride: number, offset: number): void {
    let place = this.#attributes.get(name);
    if (place === undefined) this.#attributes.set(name, (place = this.#gl.getAttribLocation(this.#program, name)));
    this.#gl.enableVertexAttribArray(place);
    this.#gl.vertexAttribPointer(place, size, this.#gl.FLOAT, false, stride, offset);
  }

  close(): void {
    this.#gl.deleteProgram(this.#program);
  }

  #uniform(name: string): WebGLUniformLocation | null {
    let place = this.#uniforms.get(name);
    if (place === undefined) this.#uniforms.set(name, (place = this.#gl.getUniformLocation(this.#program, name)));
    return place;
  }
}

function filled(gl: WebGLRenderingContext, target: number, data: Float32Array | Uint16Array, usage: number): WebGLBuffer {
  const buffer = gl.createBuffer();
  gl.bindBuffer(target, buffer);
  gl.bufferData(target, data as Float32Array<ArrayBuffer>, usage);
  return buffer;
}

function texture(gl: WebGLRenderingContext, picture: ImageBitmap): WebGLTexture {
  const made = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, made);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, picture);
  // Pictures have any size, which allows no smaller copies and no repetition.
  for (const [name, value] of [[gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE], [gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR]] as const) gl.texParameteri(gl.TEXTURE_2D, name, value);
  return made;
}
