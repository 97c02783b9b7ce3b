"""Right functions of released packages, each by opgate.check: python calls.py [NAME...].

It needs kornia, torchmetrics, piq and einops (see README.md), and exits with 1 if one is accused.
"""

from __future__ import annotations

import functools
import importlib
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import opgate
import torch
from torch import rand, randint, randn

torch.manual_seed(0)
IMAGE, GRAY, OTHER = rand(2, 3, 11, 13), rand(2, 1, 11, 13), rand(2, 3, 11, 13)
LARGER = (rand(1, 3, 20, 20), rand(1, 3, 20, 20))
LABELS = (randn(2, 4, 5, 5), randint(0, 4, (2, 5, 5)))
EYES = torch.eye(3).repeat(2, 1, 1)
BLUR = ((3, 3), (1.5, 1.5))
VECTORS = (rand(5, 4), rand(5, 4))
TWO = (rand(20), rand(20))
SIGNALS = (randn(2, 50), randn(2, 50))

Calls = dict[str, tuple[Any, ...]]
"""Arguments by the function's name."""


def alike(names: str, *arguments: Any) -> Calls:
    """The same arguments for several functions."""
    return dict.fromkeys(names.split(), arguments)


CALLS: dict[str, Calls] = {
    "kornia.color": alike(
        "rgb_to_grayscale rgb_to_hsv rgb_to_hls rgb_to_lab rgb_to_luv rgb_to_xyz rgb_to_ycbcr rgb_to_yuv"
        " rgb_to_linear_rgb rgb_to_bgr hsv_to_rgb hls_to_rgb lab_to_rgb luv_to_rgb xyz_to_rgb ycbcr_to_rgb"
        " yuv_to_rgb linear_rgb_to_rgb bgr_to_rgb sepia",
        IMAGE,
    ),
    "kornia.filters": {
        **alike("sobel spatial_gradient", IMAGE),
        **alike("gaussian_blur2d unsharp_mask", IMAGE, *BLUR),
        **alike("box_blur median_blur", IMAGE, (3, 3)),
        **alike("laplacian blur_pool2d max_blur_pool2d", IMAGE, 3),
        "filter2d": (IMAGE, rand(1, 3, 3)),
        "bilateral_blur": (IMAGE, (3, 3), 0.1, (1.5, 1.5)),
        "motion_blur": (IMAGE, 3, 35.0, 0.5),
    },
    "kornia.enhance": {
        **alike("adjust_brightness adjust_hue", IMAGE, 0.2),
        **alike("adjust_contrast adjust_saturation adjust_gamma", IMAGE, 1.2),
        **alike("invert solarize normalize_min_max equalize integral_image", IMAGE),
        **alike("normalize denormalize", IMAGE, rand(3), rand(3) + 1),
        "posterize": (IMAGE, 3),
        "sharpness": (IMAGE, 0.5),
        "histogram": (rand(2, 9), torch.linspace(0, 1, 5), torch.tensor(0.3)),
    },
    "kornia.morphology": alike(
        "dilation erosion opening closing gradient top_hat bottom_hat", IMAGE, torch.ones(3, 3)
    ),
    "kornia.geometry.transform": {
        **alike("hflip vflip rot180 pyrdown pyrup", IMAGE),
        "rotate": (IMAGE, torch.tensor([30.0, 20.0])),
        "translate": (IMAGE, rand(2, 2)),
        "scale": (IMAGE, rand(2, 2) + 0.5),
        "shear": (IMAGE, rand(2, 2) * 0.2),
        "resize": (IMAGE, (7, 9)),
        "center_crop": (IMAGE, (5, 7)),
        "warp_affine": (IMAGE, EYES[:, :2] + 0.01, (11, 13)),
        "warp_perspective": (IMAGE, EYES, (11, 13)),
        "elastic_transform2d": (IMAGE, rand(2, 2, 11, 13) * 0.1, (3, 3), (1.0, 1.0)),
    },
    "kornia.geometry.conversions": {
        **alike("rad2deg deg2rad", rand(5)),
        **alike("convert_points_to_homogeneous axis_angle_to_rotation_matrix", rand(5, 3)),
        "convert_points_from_homogeneous": (rand(5, 3) + 1,),
        **alike("quaternion_to_rotation_matrix normalize_quaternion", randn(5, 4)),
        **alike("pol2cart cart2pol", rand(5) + 1, rand(5) + 1),
    },
    "kornia.geometry.linalg": {"transform_points": (EYES[:1] + 0.1 * rand(1, 3, 3), rand(1, 6, 2))},
    "kornia.geometry.subpix": alike("spatial_softmax2d spatial_expectation2d", IMAGE),
    "kornia.geometry.bbox": {
        "bbox_to_mask": (torch.tensor([[[1.0, 1.0], [3.0, 1.0], [3.0, 2.0], [1.0, 2.0]]]), 5, 6)
    },
    "kornia.losses": {
        "ssim_loss": (IMAGE, OTHER, 5),
        "psnr_loss": (IMAGE, OTHER, 1.0),
        "total_variation": (IMAGE,),
        "charbonnier_loss": (IMAGE, OTHER),
        "binary_focal_loss_with_logits": (randn(2, 1, 5, 5), rand(2, 1, 5, 5).round(), 0.25),
        "kl_div_loss_2d": (rand(2, 1, 5, 5), rand(2, 1, 5, 5)),
        **alike("dice_loss lovasz_softmax_loss", *LABELS),
        "focal_loss": (*LABELS, 0.5),
        "tversky_loss": (*LABELS, 0.5, 0.5),
        "inverse_depth_smoothness_loss": (rand(2, 1, 5, 5), rand(2, 3, 5, 5)),
    },
    "kornia.feature": {
        **alike("harris_response gftt_response hessian_response", GRAY),
        "match_nn": (rand(5, 8), rand(6, 8)),
    },
    "torchmetrics.functional": {
        **alike(
            "mean_squared_error mean_absolute_error mean_absolute_percentage_error explained_variance"
            " r2_score pearson_corrcoef concordance_corrcoef log_cosh_error"
            " symmetric_mean_absolute_percentage_error relative_squared_error mean_squared_log_error"
            " spearman_corrcoef kendall_rank_corrcoef"
            " tweedie_deviance_score",
            *TWO,
        ),
        "minkowski_distance": (*TWO, 3),
        "cosine_similarity": VECTORS,
        **alike(
            "pairwise_cosine_similarity pairwise_euclidean_distance pairwise_linear_similarity"
            " pairwise_manhattan_distance",
            rand(5, 4),
            rand(6, 4),
        ),
    },
    "torchmetrics.functional.audio": alike(
        "signal_noise_ratio scale_invariant_signal_noise_ratio scale_invariant_signal_distortion_ratio",
        *SIGNALS,
    ),
    "torchmetrics.functional.image": {
        **alike(
            "structural_similarity_index_measure spectral_angle_mapper"
            " error_relative_global_dimensionless_synthesis",
            IMAGE,
            OTHER,
        ),
        **alike("total_variation image_gradients", IMAGE),
        "universal_image_quality_index": LARGER,
    },
    "piq": {
        "ssim": (*LARGER, 5),
        "gmsd": LARGER,
        "psnr": (rand(2, 3, 9, 9), rand(2, 3, 9, 9)),
        "total_variation": (LARGER[0],),
    },
    "torch.nn.functional": {
        **alike(
            "elu selu celu gelu hardswish hardsigmoid hardtanh leaky_relu logsigmoid mish relu6 silu softplus"
            " softshrink softsign tanhshrink normalize",
            randn(3, 5, 7),
        ),
        "threshold": (randn(3, 5, 7), 0.1, 0.2),
        "instance_norm": (IMAGE,),
        "local_response_norm": (rand(2, 6, 5, 5), 3),
        "pixel_shuffle": (rand(2, 8, 3, 4), 2),
        "unfold": (rand(2, 3, 7, 8), 3),
        "lp_pool2d": (IMAGE, 2.0, 3),
        "cosine_embedding_loss": (*VECTORS, torch.tensor([1.0, -1, 1, 1, -1])),
        "triplet_margin_loss": (*VECTORS, rand(5, 4)),
        **alike("huber_loss poisson_nll_loss", *TWO),
        "gaussian_nll_loss": (*TWO, rand(20) + 0.1),
        "bilinear": (rand(5, 4), rand(5, 3), rand(6, 4, 3)),
        "grid_sample": (IMAGE, rand(2, 5, 6, 2) * 1.6 - 0.8),
        "affine_grid": (EYES[:1, :2] + 0.1, [1, 1, 4, 5]),
        "pdist": (rand(5, 4),),
        "one_hot": (randint(0, 4, (5,)), 4),
        "multi_margin_loss": (rand(5, 4), randint(0, 4, (5,))),
    },
    "torch.special": {
        **alike(
            "entr erf erfcx expit expm1 i0e i1e log_ndtr ndtr sinc logit bessel_j0 spherical_bessel_j0",
            rand(5) * 0.8 + 0.1,
        ),
        **alike("xlog1py zeta", rand(5) + 1.5, rand(5) + 1.5),
    },
    "einops": {
        "rearrange": (IMAGE, "b c h w -> b h w c"),
        "reduce": (IMAGE, "b c h w -> b c", "mean"),
        "repeat": (rand(4, 5), "b c -> b c 3"),
    },
}
TRUE_DEFECTS = {"torch.nn.functional.multi_margin_loss", "torch.nn.functional.gelu"}
"""What is found in them is true: see README.md."""


def judge(function: Callable[..., Any], arguments: Sequence[Any]) -> str:
    """What opgate.check finds; empty if nothing. Texts at the end are a part of the function."""
    given = [value for value in arguments if not isinstance(value, str)]
    texts = arguments[len(given) :]
    try:
        opgate.check(functools.partial(with_texts, function, texts) if texts else function, given)
    except AssertionError as error:
        return str(error)
    return ""


def with_texts(function: Callable[..., Any], texts: Sequence[str], x: torch.Tensor) -> Any:
    """The function of one tensor."""
    return function(x, *texts)


def main(chosen: Sequence[str]) -> int:
    """Checks the chosen functions, or all; the exit status."""
    warnings.filterwarnings("ignore")
    accused = count = 0
    for module, calls in CALLS.items():
        for name, arguments in calls.items():
            full = f"{module}.{name}"
            if chosen and not any(part in full for part in chosen):
                continue
            found = judge(getattr(importlib.import_module(module), name), arguments)
            accused += bool(found) and full not in TRUE_DEFECTS
            count += 1
            print("found" if found else "right", full, found, flush=True)
    print(f"{count} functions, {accused} accused")
    return int(accused > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
