# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classifiers, segmentation, detection and video of torchvision, and segmentation
of segmentation_models_pytorch."""

from __future__ import annotations

from functools import partial
from typing import Any

from library_networks import from_smp, from_torchvision
from network import Input, Network, adapt, in_family

tv, smp = partial(partial, from_torchvision), partial(partial, from_smp)
TORCHSCRIPT = {"exporter": "torchscript"}


def make_small_vit() -> Any:
    from torchvision.models import VisionTransformer

    return VisionTransformer(64, 16, num_layers=3, num_heads=4, hidden_dim=64, mlp_dim=128)


def make_segmentation(name: str) -> Any:
    arguments: dict[str, Any] = {"weights_backbone": None}
    return adapt(from_torchvision(name, **arguments), (), ("out",))


SSD_IMAGE = 320


def spread_scores(detector: Any, size: int) -> None:
    """Makes the scores of a network that was not trained differ by more than rounding
    does, which else decides the order of the boxes: normalisations get the statistics of
    a and layers that score get weights that keep a variance of 1."""
    import torch

    # Anchors of networks without a class for the background start as unlikely.
    gain = 0.1 if hasattr(detector, "rpn") or size == SSD_IMAGE else 1
    for name, weights in detector.named_parameters():
        if weights.dim() < 2:
            continue
        if any(part in name for part in ("classification_head", "cls_logits", "cls_score")):
            torch.nn.init.normal_(weights, std=(gain / weights[0].numel()) ** 0.5)
        # Boxes that are moved far away are none.
        if "bbox_pred" in name:
            torch.nn.init.normal_(weights, std=(0.001 / weights[0].numel()) ** 0.5)
    for module in detector.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = 1.0
    detector.train()
    with torch.no_grad():
        images, _ = detector.transform([torch.randn(3, size, size) for _ in range(2)])
        features = detector.backbone(images.tensors)
        if hasattr(detector, "head"):
            detector.head(list(features.values()) if isinstance(features, dict) else [features])
    detector.eval()


def make_detector_module(name: str, size: int) -> Any:
    # The size of SSD's images is part of the network.
    sizes = {} if name.startswith("ssd") else {"min_size": size, "max_size": size}
    # Of many boxes, two have nearly the same score.
    most = "box_detections_per_img" if "rcnn" in name else "detections_per_img"
    options = {"weights_backbone": None, "num_classes": 5, most: 20, **sizes}
    detector = from_torchvision(name, **options)
    spread_scores(detector, size if sizes else SSD_IMAGE)
    return detector


def make_detector(name: str, size: int) -> Any:
    """A detector from images to boxes, labels and scores."""
    import torch

    detector = make_detector_module(name, size)

    class Detector(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.detector = detector

        def forward(self, images: torch.Tensor) -> Any:
            # A detector that is trained needs to be told what there is.
            if self.training:
                return self.detector.backbone(images)
            found = self.detector([images[0]])
            found = found[1] if isinstance(found, tuple) else found
            return tuple(found[0].values())

    return Detector()


def make_heads(name: str, size: int) -> Any:
    """A detector from images to what its heads say about all anchors."""
    import torch

    detector = make_detector_module(name, size)

    class Heads(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.detector = detector

        def forward(self, images: torch.Tensor) -> Any:
            features = self.detector.backbone(images)
            features = list(features.values()) if isinstance(features, dict) else [features]
            if hasattr(self.detector, "rpn"):
                scores, boxes = self.detector.rpn.head(features)
                return (*scores, *boxes)
            return tuple(self.detector.head(features).values())

    return Heads()


class RegionInput(Input):
    """Boxes in an image: the number of the image and two corners."""

    def draw(self, generator: Any, batch: int) -> Any:
        import numpy as np

        corners = generator.uniform(0, 20, (self.shape[0], 2))
        sizes = generator.uniform(4, 40, (self.shape[0], 2))
        boxes = np.concatenate([corners, corners + sizes], axis=1)
        return np.pad(boxes, ((0, 0), (self.shape[1] - 4, 0))).astype("float32")


def make_roi_head() -> Any:
    """The second stage of Faster R-CNN: pooled regions, and two products."""
    import torch
    from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
    from torchvision.ops import RoIAlign

    class RoiHead(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.pool = RoIAlign((7, 7), spatial_scale=0.5, sampling_ratio=2)
            self.head = TwoMLPHead(8 * 49, 64)
            self.predictor = FastRCNNPredictor(64, 5)

        def forward(self, features: torch.Tensor, regions: torch.Tensor) -> Any:
            return self.predictor(self.head(self.pool(features, regions)))

    return RoiHead()


def make_nms() -> Any:
    """What follows a detector's heads: scores, and the boxes that remain."""
    import torch
    from torchvision.ops import nms

    class Suppression(torch.nn.Module):
        def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> Any:
            return nms(boxes, torch.sigmoid(scores), 0.5)

    return Suppression()


def make_deformable() -> Any:
    import torch
    from torchvision.ops import DeformConv2d

    class Deformable(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.offset = torch.nn.Conv2d(3, 18, 3, padding=1)
            self.mask = torch.nn.Conv2d(3, 9, 3, padding=1)
            self.conv = DeformConv2d(3, 8, 3, padding=1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(self.conv(x, self.offset(x), torch.sigmoid(self.mask(x))))

    return Deformable()


CLASSIFIERS = in_family(
    "classifier",
    ("alexnet", tv("alexnet")),
    ("tv_resnet18", tv("resnet18"), {"batch": 3}),
    ("tv_resnet50", tv("resnet50"), TORCHSCRIPT),
    ("tv_squeezenet", tv("squeezenet1_1")),
    ("tv_densenet121", tv("densenet121"), TORCHSCRIPT),
    ("tv_googlenet", tv("googlenet", aux_logits=False, init_weights=False)),
    ("tv_mnasnet", tv("mnasnet0_5")),
    ("tv_mobilenet_v2", tv("mobilenet_v2"), {"batch": 4, **TORCHSCRIPT}),
    ("tv_regnet_x", tv("regnet_x_400mf"), TORCHSCRIPT),
    ("tv_shufflenet", tv("shufflenet_v2_x0_5"), TORCHSCRIPT),
    ("tv_efficientnet_b1", tv("efficientnet_b1"), TORCHSCRIPT),
    ("tv_mobilenet_v3_small", tv("mobilenet_v3_small"), {"batch": 2}),
    image=96,
)

TRANSFORMERS = in_family(
    "vision transformer",
    ("tv_vit", make_small_vit, {"image": 64}),
    ("tv_vit_batch", make_small_vit, {"image": 64, "batch": 3}),
    ("tv_vit_torchscript", make_small_vit, {"image": 64, **TORCHSCRIPT}),
    ("tv_swin_v2_t", tv("swin_v2_t"), {"image": 128}),
    ("tv_swin_t_torchscript", tv("swin_t"), {"image": 128, **TORCHSCRIPT}),
    ("tv_maxvit_t", tv("maxvit_t")),
)

SEGMENTATION = in_family(
    "segmentation",
    ("fcn_resnet50", partial(make_segmentation, "fcn_resnet50")),
    ("deeplab_mobilenet", partial(make_segmentation, "deeplabv3_mobilenet_v3_large")),
    ("lraspp", partial(make_segmentation, "lraspp_mobilenet_v3_large"), TORCHSCRIPT),
    ("smp_unet", smp("Unet"), {"batch": 2}),
    ("smp_unet_plus_plus", smp("UnetPlusPlus"), TORCHSCRIPT),
    ("smp_fpn", smp("FPN")),
    ("smp_pspnet", smp("PSPNet")),
    ("smp_linknet", smp("Linknet"), TORCHSCRIPT),
    ("smp_manet", smp("MAnet")),
    ("smp_pan", smp("PAN")),
    ("smp_deeplab_plus", smp("DeepLabV3Plus"), TORCHSCRIPT),
    ("smp_upernet", smp("UPerNet")),
    ("smp_segformer", smp("Segformer")),
    image=96,
)

BOXES = RegionInput("boxes", (20, 4))
DETECTION = in_family(
    "detection",
    *(
        (f"{name}_{exporter}", partial(make_detector, model, 160), {"exporter": exporter})
        for name, model in (
            ("faster_rcnn", "fasterrcnn_mobilenet_v3_large_320_fpn"),
            ("mask_rcnn", "maskrcnn_resnet50_fpn"),
            ("retinanet", "retinanet_resnet50_fpn"),
            ("ssdlite", "ssdlite320_mobilenet_v3_large"),
            ("fcos", "fcos_resnet50_fpn"),
        )
        for exporter in ("dynamo", "torchscript")
    ),
    ("faster_rcnn_heads", partial(make_heads, "fasterrcnn_mobilenet_v3_large_320_fpn", 160)),
    ("retinanet_heads", partial(make_heads, "retinanet_resnet50_fpn", 160)),
    ("ssd_heads", partial(make_heads, "ssd300_vgg16", 300), {"image": 300}),
    ("ssdlite_heads", partial(make_heads, "ssdlite320_mobilenet_v3_large", 320), {"image": 320}),
    ("fcos_heads", partial(make_heads, "fcos_resnet50_fpn", 160), TORCHSCRIPT),
    (
        "roi_head",
        make_roi_head,
        {"inputs": (Input("features", (1, 8, 32, 32)), RegionInput("regions", (6, 5)))},
    ),
    ("nms", make_nms, {"inputs": (BOXES, Input("scores", (20,)))}),
    ("nms_torchscript", make_nms, {"inputs": (BOXES, Input("scores", (20,))), **TORCHSCRIPT}),
    ("deformable_conv", make_deformable, {"image": 24}),
    image=160,
)

VIDEO = in_family(
    "video",
    *(
        (name, tv(name), {"inputs": (Input("video", (1, 3, 8, 64, 64)),), "exporter": exporter})
        for name, exporter in (("r3d_18", "dynamo"), ("mc3_18", "torchscript"))
    ),
)

FLOW = in_family(
    "optical flow",
    (
        "raft_small",
        lambda: adapt(from_torchvision("raft_small"), (), (-1,)),
        {"inputs": (Input("image1", (1, 3, 128, 128)), Input("image2", (1, 3, 128, 128)))},
    ),
)

TORCHVISION_NETWORKS: tuple[Network, ...] = (
    *CLASSIFIERS,
    *TRANSFORMERS,
    *SEGMENTATION,
    *DETECTION,
    *VIDEO,
    *FLOW,
)
