// A VRM figure, drawn with three.js: head and shoulders in front of nothing. A chunk of its own, loaded when a figure is shown. It is
// made of the bytes of its file alone: whatever address the file might name is refused.
import { type VRM, VRMLoaderPlugin, VRMUtils } from "@pixiv/three-vrm";
import { AmbientLight, Box3, DirectionalLight, LoadingManager, type Object3D, PerspectiveCamera, Scene, SRGBColorSpace, TextureLoader, Vector3, WebGLRenderer } from "three";
import { type GLTFParser, GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";

import { avatars as words } from "../../../language/en/voice/avatars";
import type { Pose } from "../pose";
import type { FaceRenderer, OpenFace } from "../renderer";
import { figurePose } from "./figure_pose";

/** Degrees from the bottom to the top of the picture. */
const VIEW = 18;
/** Radians by which the arms hang, since a figure's own pose spreads them. */
const ARMS = 1.25;
/** Seconds that hair and clothes move on at most between two frames. */
const LONGEST_STEP = 0.1;
const LIGHT = { light: { ambient: 1.6, key: 1.9 }, dark: { ambient: 1.1, key: 1.5 } } as const;

/** Opens a figure from the bytes of its file. */
export function figureFace(file: ArrayBuffer): OpenFace {
  return async (canvas, signal) => {
    const vrm = await load(file);
    if (signal.aborted) {
      VRMUtils.deepDispose(vrm.scene);
      throw new DOMException("The face was closed.", "AbortError");
    }
    try {
      return new FigureFace(vrm, canvas);
    } catch {
      VRMUtils.deepDispose(vrm.scene);
      throw new Error(words().noWebgl);
    }
  };
}

/** Only what the loader made itself of the file's bytes is loaded. */
export function insideOnly(address: string): string {
  if (!address.startsWith("blob:")) throw new Error("A figure may not load anything.");
  return address;
}

async function load(file: ArrayBuffer): Promise<VRM> {
  const manager = new LoadingManager();
  manager.setURLModifier(insideOnly);
  const loader = new GLTFLoader(manager);
  loader.register((parser) => {
    // The loader of its choice uses `fetch` for the textures, which the page's policy allows for the server only.
    (parser as GLTFParser & { textureLoader: TextureLoader }).textureLoader = new TextureLoader(manager);
    return new VRMLoaderPlugin(parser);
  });
  const failed = new Error(words().brokenFigure);
  const { scene, userData } = await loader.parseAsync(file, "").catch(() => Promise.reject(failed));
  const vrm = userData["vrm"] as VRM | undefined;
  if (!vrm) throw failed;
  VRMUtils.combineSkeletons(scene);
  VRMUtils.rotateVRM0(vrm);
  vrm.scene.traverse((part) => (part.frustumCulled = false));
  return vrm;
}

class FigureFace implements FaceRenderer {
  readonly #vrm: VRM;
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #camera = new PerspectiveCamera(VIEW, 1, 0.05, 50);
  readonly #ambient = new AmbientLight(0xffffff);
  readonly #key = new DirectionalLight(0xffffff);
  /** Bones of VRM 0.x are turned half around: angles about x and z are the other way. */
  readonly #way: 1 | -1;
  readonly #bone: (name: Parameters<VRM["humanoid"]["getNormalizedBoneNode"]>[0]) => Object3D | null;
  #last = performance.now();

  constructor(vrm: VRM, canvas: HTMLCanvasElement) {
    this.#renderer = new WebGLRenderer({ canvas, alpha: true, antialias: true, powerPreference: "low-power" });
    this.#renderer.outputColorSpace = SRGBColorSpace;
    this.#vrm = vrm;
    this.#way = vrm.meta.metaVersion === "0" ? -1 : 1;
    this.#bone = (name) => vrm.humanoid.getNormalizedBoneNode(name);
    this.#key.position.set(0.6, 1, 1.6);
    this.#scene.add(vrm.scene, this.#ambient, this.#key);
    if (vrm.lookAt) vrm.lookAt.target = null;
    const [left, right] = [this.#bone("leftUpperArm"), this.#bone("rightUpperArm")];
    if (left) left.rotation.z = -ARMS * this.#way;
    if (right) right.rotation.z = ARMS * this.#way;
    vrm.update(0);
    this.#frame();
  }

  draw(pose: Pose, theme: "light" | "dark", width: number, height: number): void {
    const { expressions, head, breath, gaze } = figurePose(pose);
    for (const [name, weight] of Object.entries(expressions)) this.#vrm.expressionManager?.setValue(name, weight);
    for (const name of ["head", "neck"] as const) {
      const share = this.#bone("neck") ? 0.5 : 1;
      this.#bone(name)?.rotation.set(head.nod * share * this.#way, head.turn * share, -head.tilt * share * this.#way);
    }
    const chest = this.#bone("chest") ?? this.#bone("spine");
    if (chest) chest.rotation.x = -breath * this.#way;
    if (this.#vrm.lookAt) [this.#vrm.lookAt.yaw, this.#vrm.lookAt.pitch] = [gaze.yaw, gaze.pitch];
    const now = performance.now();
    this.#vrm.update(Math.min(LONGEST_STEP, (now - this.#last) / 1000));
    this.#last = now;
    [this.#ambient.intensity, this.#key.intensity] = [LIGHT[theme].ambient, LIGHT[theme].key];
    this.#fit(width, height);
    this.#renderer.render(this.#scene, this.#camera);
  }

  close(): void {
    this.#scene.clear();
    VRMUtils.deepDispose(this.#vrm.scene);
    this.#renderer.dispose();
    // The browser keeps a few contexts only, and frees one that nobody refers to much later.
    this.#renderer.forceContextLoss();
  }

  #fit(width: number, height: number): void {
    const { domElement } = this.#renderer;
    if (domElement.width === width && domElement.height === height) return;
    this.#renderer.setPixelRatio(1);
    this.#renderer.setSize(width, height, false);
    this.#camera.aspect = width / Math.max(1, height);
    // In a narrow picture the width has to hold the head.
    this.#camera.zoom = Math.min(1, this.#camera.aspect);
    this.#camera.updateProjectionMatrix();
  }

  /** Looks straight at the head, with the shoulders below it. Heads differ in size: the top of the figure says how large this one is. */
  #frame(): void {
    this.#vrm.scene.updateWorldMatrix(true, true);
    const head = this.#vrm.humanoid.getRawBoneNode("head")?.getWorldPosition(new Vector3()) ?? new Vector3(0, 1.4, 0);
    const top = new Box3().setFromObject(this.#vrm.scene).max.y;
    const size = Math.max(0.05, top - head.y);
    const middle = head.y + size * 0.25;
    const distance = (size * 1.15) / Math.tan((VIEW / 2) * (Math.PI / 180));
    this.#camera.position.set(head.x, middle, head.z + distance);
    this.#camera.near = distance / 20;
    this.#camera.far = distance * 20;
    this.#camera.lookAt(head.x, middle, head.z);
    this.#camera.updateProjectionMatrix();
  }
}
